/**
 * Serves a bench's store in a process of its own, until it is killed. Arguments: folder, simulator's address, gate point,
 * how often the point (`*`: any point; `sql`: any statement of the store) is passed before the process ends itself there, lease in ms,
 * and `keeps` for a provider that keeps its answers. Prints `ready` when it
 * serves. At SIGUSR2 it prints `asleep` and sleeps until SIGCONT, between two turns of its event loop.
 */
import { writeSync } from 'node:fs';
import { coordinatorOptions, openStore } from './work-bench.test.helper.js';
import { createCoordinator } from './create-coordinator.js';

const [folder = '', url = '', point = '', occurrence = '0', leaseMs = '60000', keeps = ''] = process.argv.slice(2);
let left = Number(occurrence);

function gate(reached: string): void {
  if (reached !== point && point !== '*' && !(point === 'sql' && reached.startsWith('sql:'))) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

process.on('SIGUSR2', () => {
  writeSync(1, 'asleep\n');
  process.kill(process.pid, 'SIGSTOP');
});

const db = await openStore(folder, { leaseMs: Number(leaseMs), ...(point === 'sql' && { gate }) });
createCoordinator(coordinatorOptions(db, url, { gate, keepsAnswers: keeps === 'keeps' })).start();
console.log('ready');
