#!/usr/bin/env node
/**
 * The simulator as a process of its own: `node serve.js --scenario NAME_OR_PATH --log FILE --port 0`.
 * Prints one line of JSON, `{"url":"http://127.0.0.1:PORT/v1"}`, when it listens. Ends on SIGTERM or SIGINT, and with
 * `--parent` also when its standard input ends, so that it never outlives a test that was killed.
 */
import { parseArgs } from 'node:util';
import { type Fault, type FaultName, toFault } from './faults.js';
import { loadScenario } from './load-scenario.js';
import { type ArrivedRequest, startSimulator } from './server.js';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'default' },
    log: { type: 'string' },
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    /** `NAME@ORDINAL`: the fault of the request with that ordinal. May be given more than once. */
    fault: { type: 'string', multiple: true, default: [] },
    parent: { type: 'boolean', default: false },
  },
});

const simulator = await startSimulator({
  scenario: await loadScenario(values.scenario),
  port: Number(values.port),
  host: values.host,
  log: values.log,
  faults: faultsByOrdinal(values.fault),
});
process.stdout.write(`${JSON.stringify({ url: simulator.url })}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void simulator.close());
if (values.parent) process.stdin.once('end', () => void simulator.close()).resume();

function faultsByOrdinal(entries: readonly string[]): (request: ArrivedRequest) => Fault | undefined {
  const pairs = entries.map((entry) => entry.split('@'));
  const faults = new Map(pairs.map(([name, ordinal]) => [Number(ordinal), toFault(name as FaultName)]));
  return (request) => faults.get(request.ordinal);
}
