import { Writable } from 'node:stream';

type Write = typeof process.stdout.write;

interface Original {
  readonly write: Write;
  /** What to put back; undefined: the stream's own method shows again. */
  readonly property: PropertyDescriptor | undefined;
}

let redirections = 0;
let original: Original | undefined;

/** Standard output while everybody else's writes to it go to standard error. */
export interface HeldOutput {
  /** Writes to the real standard output. */
  readonly out: Writable;
  /** Gives standard output back; with the last one it is as it was. */
  release(): void;
}

/**
 * Sends what this process writes by `console.log` and `process.stdout` to standard error, so that nothing gets between the
 * messages of a protocol. A write to descriptor 1 itself, and a child process that inherits it, are not reached.
 */
export function holdStandardOutput(): HeldOutput {
  original ??= {
    write: process.stdout.write.bind(process.stdout),
    property: Object.getOwnPropertyDescriptor(process.stdout, 'write'),
  };
  const { write } = original;
  redirections += 1;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const out = new Writable({ write: (chunk: Buffer, _encoding, done) => void write(chunk, (error) => done(error)) });
  out.on('error', () => {}); // standard output tells it itself
  let isHeld = true;
  return {
    out,
    release() {
      redirections -= isHeld ? 1 : 0;
      isHeld = false;
      if (redirections === 0) giveBack();
    },
  };
}

function giveBack(): void {
  if (original === undefined) return;
  Reflect.deleteProperty(process.stdout, 'write');
  if (original.property !== undefined) Object.defineProperty(process.stdout, 'write', original.property);
  original = undefined;
}
