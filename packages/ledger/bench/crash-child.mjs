// Runs one operation on a store and is killed at one of its points: argv = engine, location, operation, point (-1: none, prints the count).
import { openPostgres, openSqlite } from '@stint/storage';
import { operations, sweepTime } from './operations.mjs';

const [engine, location, name, point] = process.argv.slice(2);
let armed = false;
let passed = 0;

function gate() {
  if (!armed) return;
  if (passed === Number(point)) process.kill(process.pid, 'SIGKILL');
  passed += 1;
}

const options = { clock: () => sweepTime, gate };
const db =
  engine === 'sqlite'
    ? await openSqlite({ path: location, ...options })
    : await openPostgres({ url: location, ...options });
// oxlint-disable-next-line require-yield -- registers the heartbeat row and no more
await db.write(function* () {});
const before = db.statementCount;
armed = true;
await db.write((ctx) => operations[name].run(ctx));
armed = false;
process.send({ points: passed, statements: db.statementCount - before });
await db.close();
