/** Where a command writes. `line` and `json` go to stdout and nothing else does, so that scripts can parse it. */
export interface Output {
  /** The result, for a person. */
  readonly line: (text: string) => void;
  /** The result, for a machine: one JSON document a line. */
  readonly json: (value: unknown) => void;
  /** Everything else: stderr. */
  readonly note: (text: string) => void;
  readonly interactive: boolean;
}

interface Streams {
  readonly stdout: { readonly write: (text: string) => unknown };
  readonly stderr: NodeJS.WriteStream;
  readonly stdin: NodeJS.ReadStream;
}

/** Control characters of models and tools must not drive the terminal. */
const harmful = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
export const printable = (text: string): string =>
  text.replace(harmful, (character) => (character === '\n' || character === '\t' ? character : '�'));

export const terminalOutput = ({ stdout, stderr, stdin }: Streams = process): Output => ({
  line: (text) => void stdout.write(`${printable(text)}\n`),
  json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
  note: (text) => void stderr.write(`${printable(text)}\n`),
  interactive: Boolean(stdin.isTTY && stderr.isTTY),
});
