/**
 * The stint command, ended by a real `kill -9` of itself the n-th time it comes to a named point: STINT_KILL_AT=`point` or `point#n`. Every point
 * that is passed goes to stderr as `gate <point>`, so that a test knows what there was.
 */
import { runCommandLine } from '@stint/agent';

const [wanted, nth = '1'] = (process.env.STINT_KILL_AT ?? '').split('#');
let seen = 0;

const gate = (point) => {
  if (process.env.STINT_SHOW_GATES) process.stderr.write(`gate ${point}\n`);
  if (point !== wanted) return;
  seen += 1;
  if (seen === Number(nth)) process.kill(process.pid, 'SIGKILL');
};

process.exitCode = await runCommandLine(process.argv.slice(2), { gate });
