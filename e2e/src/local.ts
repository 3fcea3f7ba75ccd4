import { once } from 'node:events';
import { freshDataDirectory, startStint, type StintOptions } from './stint.js';

/** A running `stint local`, with the address it printed. */
export interface Local extends AsyncDisposable {
  /** Signs a browser in, once. */
  readonly url: string;
  readonly dataDirectory: string;
  readonly stderr: () => string;
  /** Ends it as Ctrl-C does; answers the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `stint local` on a free port and waits until it has printed its address. */
export async function startLocal(words: readonly string[] = [], options: Partial<StintOptions> = {}): Promise<Local> {
  const { dataDirectory = freshDataDirectory() } = options;
  const { child, ended, stdout, stderr } = startStint(['local', '--port', '0', '--no-open', ...words], {
    ...options,
    dataDirectory,
  });
  const address = /https?:\/\/127\.0\.0\.1:\d+\/#ticket=\S+/;
  while (!address.test(stdout())) {
    const gone = await Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)]);
    if (gone) throw new Error(`stint local ended before it printed its address:\n${stdout()}${stderr()}`);
  }
  const stop = async (): Promise<number | null> => {
    child.kill('SIGINT');
    return (await ended).code;
  };
  return {
    url: address.exec(stdout())?.[0] ?? '',
    dataDirectory,
    stderr,
    stop,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) await stop();
    },
  };
}
