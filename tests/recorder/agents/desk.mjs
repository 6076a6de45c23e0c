// The desk of a city library, for programs in JavaScript: see desk.py, whose tools and journal these are.
import { appendFileSync, readFileSync } from 'node:fs';

const task = JSON.parse(readFileSync(process.env.RECORDER_TASK, 'utf8'));
const shelves = {
  'The Salt Road, Riverside': { copy: 5127, shelf: 'F-18', status: 'on the shelf' },
  'Paper Lanterns, Northgate': { copy: 6604, shelf: 'K-02', status: 'lent until Friday' },
};
const hours = { Central: '09:00-20:00', Riverside: '10:00-18:00', Northgate: '10:00-16:00' };
const tools = {
  find_book({ title, branch }) {
    if (!hours[branch]) throw new Error(`No branch is called ${branch}. Branches: ${Object.keys(hours).join(', ')}.`);
    return shelves[`${title}, ${branch}`];
  },
  lend_copy: () => ({ loan: 88213, due: '17 April' }),
  opening_hours: ({ branch }) => ({ open: hours[branch], today: 'Monday' }),
  reserve_room: () => ({ room: 'Reading room 3' }),
};

export const model = process.env.RECORDER_MODEL ?? 'gpt-4.1-mini';
export const mode = new Set((process.env.DESK_MODE ?? '').split('-'));
export const users = task.users;
export const definitions = JSON.parse(readFileSync(new URL('tools.json', import.meta.url), 'utf8')).filter((tool) =>
  task.tools.includes(tool.name),
);

const journal = (entry) => appendFileSync(process.env.RECORDER_JOURNAL, JSON.stringify(entry) + '\n');

/** The instructions. Call it only if the framework is given them. */
export function system() {
  journal({ system: task.system });
  return task.system;
}

/** The session's id. Call it only if the framework or the instrumentation is given it. */
export function session() {
  journal({ session: task.session });
  return task.session;
}

/** Run an offered tool; throws what the tool throws. */
export function run(name, args) {
  try {
    const result = tools[name](args);
    journal({ called: name, arguments: args, result: JSON.stringify(result) });
    return result;
  } catch (error) {
    journal({ called: name, arguments: args, error: error.message });
    throw error;
  }
}

/** Let the run end as it may: what is thrown is journaled. */
export async function ending(body) {
  try {
    await body();
  } catch (error) {
    journal({ raised: String(error).slice(0, 300) });
    console.error(error);
  }
}
