import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Most bytes of output that are in this process and not yet taken, of all commands together. */
const IN_FLIGHT_BYTES = 65_536;
let inFlight: Buffer | undefined;

/** A pipe for the output of one command. */
export interface OutputPipe {
  /** The end for the child process. To be destroyed here when the child has it. */
  readonly writeEnd: Socket;
  /** Emits 'close' after the last byte was taken and nobody can write any more. */
  readonly readEnd: Socket;
}

/**
 * Opens a pipe that is read into one buffer, which all pipes of this process share: output of any size of any number of commands allocates
 * nothing, and a command that writes faster than this process takes has to wait.
 * @param take called with bytes that are good until it returns
 */
export async function openOutputPipe(take: (bytes: Buffer) => void): Promise<OutputPipe> {
  const folder = await privateFolder();
  const server = createServer({ pauseOnConnect: true });
  try {
    const path = join(folder, 'output');
    await once(server.listen(path), 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const readEnd = connect({ path, onread: sharedReading(take) });
    readEnd.on('error', () => {}); // a broken pipe shows as its end
    const [[writeEnd]] = await Promise.all([accepted, once(readEnd, 'connect')]);
    return { writeEnd, readEnd };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A read and the call that takes what was read are one step, so no two pipes are ever in the buffer. */
function sharedReading(take: (bytes: Buffer) => void): {
  readonly buffer: Buffer;
  readonly callback: (byteCount: number) => boolean;
} {
  const buffer = (inFlight ??= Buffer.allocUnsafeSlow(IN_FLIGHT_BYTES));
  const callback = (byteCount: number): boolean => {
    take(buffer.subarray(0, byteCount));
    return true;
  };
  return { buffer, callback };
}

/** A new folder, 0700, so that nobody else can connect. Names of sockets may have about a hundred bytes. */
async function privateFolder(): Promise<string> {
  const isShort = Buffer.byteLength(tmpdir()) <= 70;
  const own = isShort ? await mkdtemp(join(tmpdir(), 'stint-pipe-')).catch(() => undefined) : undefined; // the next one tells what is wrong
  return own ?? mkdtemp('/tmp/stint-pipe-');
}
