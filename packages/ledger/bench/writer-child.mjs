// Reserves flat out on a store for so many milliseconds: argv = path, name, milliseconds.
import { openSqlite } from '@stint/storage';
import { reserve } from './workload.mjs';

const [path, name, milliseconds] = process.argv.slice(2);
const db = await openSqlite({ path });
const end = performance.now() + Number(milliseconds);
let count = 0;
let longestMs = 0;
while (performance.now() < end) {
  const start = performance.now();
  await reserve(db, `${name}-${String(count).padStart(9, '0')}`);
  longestMs = Math.max(longestMs, performance.now() - start);
  count += 1;
}
process.send({ count, longestMs });
await db.close();
