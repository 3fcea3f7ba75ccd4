// @ts-check
/** LangGraph: a graph of a model node and its ToolNode, checkpointed by the SQLite saver before the next node begins. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { z } from 'zod';
import { newWork, question, toolDescription } from './work.mjs';

/** The driver that Stint's store runs on, compiled once for both. */
const Sqlite = createRequire(new URL('../../packages/storage/package.json', import.meta.url))('better-sqlite3');

/** As durable as Stint's store: the saver sets WAL itself, where the driver's default would not wait for the disk. @param {string} path */
function openSaver(path) {
  const db = new Sqlite(path);
  const saver = new SqliteSaver(db);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  return { db, saver };
}

/** @param {import('./work.mjs').Answer} answer */
function messageOf({ call, text = '' }) {
  if (!call) return new AIMessage(text);
  return new AIMessage({
    content: '',
    tool_calls: [{ id: call.id, name: 'add', args: call.input, type: 'tool_call' }],
  });
}

/** @param {SqliteSaver} checkpointer @param {() => import('./work.mjs').Work} work the one under way */
function graphOf(checkpointer, work) {
  const add = tool(async (input) => String(work().add(input)), {
    name: 'add',
    description: toolDescription,
    schema: z.object({ a: z.number(), b: z.number() }),
  });
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async () => ({ messages: [messageOf(work().next())] }))
    .addNode('tools', new ToolNode([add]))
    .addEdge(START, 'model')
    .addConditionalEdges('model', toolsCondition, ['tools', END])
    .addEdge('tools', 'model')
    .compile({ checkpointer });
}

/** @param {import('./work.mjs').Place} place @returns {Promise<import('./work.mjs').Side>} */
export async function open({ folder }) {
  const { db, saver } = openSaver(join(folder, 'langgraph.db'));
  let current = newWork(0);
  const graph = graphOf(saver, () => current);
  return {
    async run(work) {
      current = work;
      const { messages } = await graph.invoke(
        { messages: [new HumanMessage(question)] },
        { configurable: { thread_id: crypto.randomUUID() }, durability: 'sync', recursionLimit: 1_000_000 },
      );
      return messages.at(-1)?.text ?? '';
    },
    close: async () => db.close(),
  };
}
