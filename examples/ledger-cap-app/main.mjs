// Caps what an app may spend, in ten lines. Runs offline: the model is simulated, at made-up prices.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createLedger } from '@stint/ledger';
import { cappedModel, refusalReasonOf } from '@stint/ledger/ai-sdk';
import { hookProvider } from '@stint/provider-hooks';
import { startSimulator } from '@stint/simulator';
import { openSqlite } from '@stint/storage';
import { generateText } from 'ai';

const simulator = await startSimulator({ scenario: () => ({ text: 'A stint is an allotted piece of work.' }) });
const provider = hookProvider((fetch) =>
  createOpenAICompatible({ name: 'simulated', baseURL: simulator.url, apiKey: 'made-up', includeUsage: true, fetch }),
);

const db = await openSqlite({ path: process.argv[2] ?? join(mkdtempSync(join(tmpdir(), 'ledger-')), 'budget.db') });
const ledger = createLedger(db);
await ledger.migrate();
await ledger.createAccount({ id: 'my-app', limits: { maxCostMicros: 2_500 } }); // a quarter of a cent
const model = cappedModel(provider('default'), ledger, { account: 'my-app' });

try {
  for (;;) {
    const { text } = await generateText({ model, prompt: 'What is a stint?', maxOutputTokens: 300, maxRetries: 0 });
    const { cost, remaining } = await ledger.snapshotAccount('my-app');
    console.log(`${text} Spent ${cost.costMicros} micros, ${remaining.costMicros} left.`);
  }
} catch (error) {
  const reason = refusalReasonOf(error);
  if (reason === undefined) throw error;
  console.log(`${reason.code}: ${reason.message}`);
}
await db.close();
await simulator.close();
