package desk;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.DefaultToolDefinition;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Spring AI: a chat client with tools, with the observations of Micrometer as spans of OpenTelemetry. */
@SpringBootApplication
public class SpringAiAgent {
    public static void main(String[] args) {
        SpringApplication.run(SpringAiAgent.class, args).close();
    }

    @Bean
    CommandLineRunner visit(ChatClient.Builder builder) {
        List<ToolCallback> tools = new ArrayList<>();
        for (JsonNode tool : Desk.definitions()) tools.add(new DeskTool(tool));
        return args -> Desk.ending(() -> {
            ChatClient client = builder.defaultSystem(Desk.system()).defaultToolCallbacks(tools).build();
            List<Message> messages = new ArrayList<>();
            for (String user : Desk.users()) {
                messages.add(new UserMessage(user));
                messages.add(new AssistantMessage(client.prompt().messages(messages).call().content()));
            }
        });
    }

    private record DeskTool(JsonNode tool) implements ToolCallback {
        @Override
        public ToolDefinition getToolDefinition() {
            return DefaultToolDefinition.builder()
                    .name(tool.get("name").asText())
                    .description(tool.get("description").asText())
                    .inputSchema(tool.get("parameters").toString())
                    .build();
        }

        @Override
        public String call(String arguments) {
            try {
                return Desk.run(tool.get("name").asText(), arguments);
            } catch (IllegalArgumentException error) {
                throw new ToolExecutionException(getToolDefinition(), error);
            }
        }
    }
}
