package desk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The desk of a city library, for programs in Java: see desk.py, whose tools and journal these are. */
public final class Desk {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNode TASK = read(System.getenv("RECORDER_TASK"));
    private static final Map<String, String> SHELVES = Map.of(
            "The Salt Road, Riverside", "{\"copy\":5127,\"shelf\":\"F-18\",\"status\":\"on the shelf\"}",
            "Paper Lanterns, Northgate", "{\"copy\":6604,\"shelf\":\"K-02\",\"status\":\"lent until Friday\"}");
    private static final Map<String, String> HOURS =
            Map.of("Central", "09:00-20:00", "Riverside", "10:00-18:00", "Northgate", "10:00-16:00");

    private Desk() {}

    /** The human's turns. */
    public static List<String> users() {
        List<String> users = new ArrayList<>();
        TASK.get("users").forEach(user -> users.add(user.asText()));
        return users;
    }

    /** The instructions. Call it only if the framework is given them. */
    public static String system() {
        journal(JSON.createObjectNode().put("system", TASK.get("system").asText()));
        return TASK.get("system").asText();
    }

    /** The session's id. Call it only if the framework or the instrumentation is given it. */
    public static String session() {
        journal(JSON.createObjectNode().put("session", TASK.get("session").asText()));
        return TASK.get("session").asText();
    }

    /** The offered tools: name, description and parameters. */
    public static List<JsonNode> definitions() {
        List<JsonNode> found = new ArrayList<>();
        for (JsonNode tool : read(System.getenv("DESK_TOOLS"))) {
            for (JsonNode name : TASK.get("tools")) {
                if (name.asText().equals(tool.get("name").asText())) found.add(tool);
            }
        }
        return found;
    }

    /** Run an offered tool; throws what the tool throws. */
    public static String run(String name, String arguments) {
        ObjectNode entry = JSON.createObjectNode().put("called", name);
        JsonNode args = parsed(arguments);
        entry.set("arguments", args);
        try {
            String result = call(name, args);
            journal(entry.put("result", result));
            return result;
        } catch (IllegalArgumentException error) {
            journal(entry.put("error", error.getMessage()));
            throw error;
        }
    }

    /** Let the run end as it may: what is thrown is journaled. */
    public static void ending(Runnable body) {
        try {
            body.run();
        } catch (RuntimeException error) {
            error.printStackTrace();
            journal(JSON.createObjectNode().put("raised", error.toString()));
        }
    }

    private static String call(String name, JsonNode args) {
        String branch = args.path("branch").asText();
        switch (name) {
            case "find_book":
                if (!HOURS.containsKey(branch)) {
                    throw new IllegalArgumentException(
                            "No branch is called " + branch + ". Branches: Central, Riverside, Northgate.");
                }
                return SHELVES.get(args.path("title").asText() + ", " + branch);
            case "lend_copy":
                return "{\"loan\":88213,\"due\":\"17 April\"}";
            case "opening_hours":
                return "{\"open\":\"" + HOURS.get(branch) + "\",\"today\":\"Monday\"}";
            default:
                return "{\"room\":\"Reading room 3\"}";
        }
    }

    private static void journal(ObjectNode entry) {
        try {
            Files.writeString(Path.of(System.getenv("RECORDER_JOURNAL")), entry + "\n", StandardOpenOption.APPEND);
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    private static JsonNode parsed(String text) {
        try {
            return JSON.readTree(text);
        } catch (java.io.IOException error) {
            throw new IllegalArgumentException(error.getMessage());
        }
    }

    private static JsonNode read(String path) {
        try {
            return JSON.readTree(Files.readString(Path.of(path)));
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }
}
