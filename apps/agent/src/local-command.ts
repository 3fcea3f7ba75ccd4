import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { spawn } from 'node:child_process';
import { isBridgeError, startBridge } from '@stint/bridge';
import { type Application, openApplication } from './application.js';
import { BridgeLink } from './bridge-link.js';
import type { CommandContext } from './command-context.js';
import { makeDemoRepository } from './demo-repository.js';
import { EventFeed } from './event-feed.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { Interruption } from './interruption.js';
import { handleOperation } from './operations.js';
import { toWireError } from './wire-error.js';
import { requirePerson } from './require-person.js';
import { readVersion } from './version.js';

interface LocalOptions {
  readonly port?: number;
  readonly open?: boolean;
  readonly demo?: boolean;
  readonly model?: string;
}

/** `stint local`: agent, bridge and page on this machine, until it is interrupted. */
export async function localCommand(context: CommandContext): Promise<number> {
  const options = context.options as CommandContext['options'] & LocalOptions;
  using interruption = new Interruption(context.output, { next: 'stint local' });
  await using application = await openApplication(context, {
    role: 'agent',
    defaultModel: options.model ?? (options.demo ? 'simulated' : undefined),
  });
  await requirePerson(application.db); // its page can do all that a person can
  if (options.model) application.models.choose(options.model);
  await refuseSecondAgent(application);
  const token = randomBytes(32).toString('base64url');
  await using bridge = await openBridge(options.port ?? 0, token, context);
  await using feed = await connect(application, context, { url: bridge.agentUrl, token });
  await application.serve(undefined, (progress) => feed.onProgress(progress));
  const url = bridge.ticketUrl();
  if (options.demo)
    context.output.note(`a repository with a failing test to try: ${makeDemoRepository(application.data)}`);
  context.output.line(`Stint is on ${url}`);
  context.output.note('The address works once and for a short time; Ctrl-C stops safely.');
  if (options.open !== false && context.output.interactive) openBrowser(url);
  await aborted(interruption.signal);
  await application.stopServing();
  return exitCodes.done;
}

/** Two agents on one store would be safe, but a person who starts a second one has most likely forgotten the first. */
async function refuseSecondAgent({ db }: Application): Promise<void> {
  await db.endDeadProcesses(); // one that was killed is no agent any more
  const other = (await db.processes()).find(({ role, id }) => role === 'agent' && id !== db.owner);
  if (other)
    throw new CommandFailure(
      'usage',
      `An agent serves this store already (process ${other.pid}). Use its page, or stop it, or choose another --data-dir.`,
    );
}

async function openBridge(port: number, agentToken: string, { output }: CommandContext) {
  try {
    const bridge = await startBridge({
      port,
      agentToken,
      log: (entry) => entry.level === 'error' && output.note(JSON.stringify(entry)),
    });
    return Object.assign(bridge, { [Symbol.asyncDispose]: () => bridge.close() });
  } catch (cause) {
    if (isBridgeError(cause) && cause.code === 'port_in_use')
      throw new CommandFailure(
        'usage',
        `Port ${port} on 127.0.0.1 is in use. Choose another with --port, or --port 0 for a free one.`,
        { cause },
      );
    throw cause;
  }
}

/** Connects the agent to the bridge; what happens in the store then reaches the page. */
async function connect(
  application: Application,
  { output }: CommandContext,
  { url, token }: { readonly url: string; readonly token: string },
): Promise<EventFeed> {
  const ready = withResolvers<void>();
  const link = new BridgeLink({
    url,
    token,
    agent: { id: 'local', name: hostname(), version: readVersion() },
    storeId: application.reader.storeId,
    handle: (operation, input) => handleOperation(application, operation, input),
    toWireError,
    onReady: ready.resolve,
    onTrouble: output.note,
  });
  await ready.promise;
  return await EventFeed.open(application.reader, link, output.note);
}

/** As `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** Tries to show the page; a machine without a browser still prints its address. */
function openBrowser(url: string): void {
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true });
  child.once('error', () => undefined); // no such program: the address was printed
  child.unref();
}
