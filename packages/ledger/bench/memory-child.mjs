// So many pairs on a store, and the resident memory after each tenth of them: argv = path, pairs.
import { openSqlite } from '@stint/storage';
import { nextId } from './measure.mjs';
import { pair } from './workload.mjs';

const [path, pairs] = process.argv.slice(2);
const db = await openSqlite({ path, synchronous: 'normal' });
const megabytes = [];
for (let tenth = 0; tenth < 10; tenth += 1) {
  for (let index = 0; index < Number(pairs) / 10; index += 1) await pair(db, nextId());
  megabytes.push(process.memoryUsage().rss / 1_048_576);
}
await db.close();
process.send(megabytes);
