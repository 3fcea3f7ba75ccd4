// @ts-check
/** DBOS: one workflow a run, each answer of the model and each call of the tool a step, in Postgres. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { newWork, question } from './work.mjs';

/** The work under way: a workflow's own arguments must be JSON. */
let current = newWork(0);

const agent = DBOS.registerWorkflow(
  async (/** @type {string} */ prompt) => {
    const work = current;
    /** @type {unknown[]} */
    const messages = [{ role: 'user', content: prompt }];
    for (;;) {
      const { call, text = '' } = await DBOS.runStep(async () => work.next(), { name: 'model' });
      messages.push({ role: 'assistant', content: call ?? text });
      if (!call) return text;
      const result = await DBOS.runStep(async () => work.add(call.input), { name: 'add' });
      messages.push({ role: 'tool', id: call.id, content: result });
    }
  },
  { name: 'agent' },
);

/** @param {import('./work.mjs').Place} place @returns {Promise<import('./work.mjs').Side>} */
export async function open({ postgres }) {
  if (postgres === undefined) throw new Error('DBOS needs the URL of a Postgres database');
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: postgres, logLevel: 'error' });
  await DBOS.launch();
  return {
    run(work) {
      current = work;
      return agent(question);
    },
    close: () => DBOS.shutdown(),
  };
}
