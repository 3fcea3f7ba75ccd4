// Takes a SQLite file's write lock as another program would, says so, and lets go when its input ends. argv = path
import Database from 'better-sqlite3';

const db = new Database(process.argv[2]);
db.exec('BEGIN IMMEDIATE');
process.stdout.write('locked\n');
process.stdin.on('end', () => db.close()).resume();
