const usageMark = Buffer.from('"usage');
const doneMark = Buffer.from('data: [DONE]');
const noUsage = /^"usage(Metadata)?"\s*:\s*(null|\{\s*\})/;
/** A line longer than this is an answer's content, not a report of usage. */
const longestLineBytes = 262_144;

/**
 * Looks at the bytes of an event stream on their way, for what providers' parsers swallow: the done marker, and the
 * reports of usage, which a stream that breaks later has told all the same. Lines are kept as they are and parsed only
 * if they are needed: the first report and the last, since a later one replaces what is between.
 */
export class WireWatch {
  #rest: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  #first: string | null = null;
  #last: string | null = null;

  take(chunk: Uint8Array): void {
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const end = bytes.lastIndexOf(10) + 1;
    this.#scan(bytes.subarray(0, end));
    this.#rest = bytes.length - end > longestLineBytes ? Buffer.alloc(0) : bytes.subarray(end);
    this.#tail = Buffer.concat([this.#tail, fresh.subarray(-32)]).subarray(-32);
  }

  /** True if the last line that is no blank is the done marker. */
  get sawDone(): boolean {
    return this.#tail.includes(doneMark);
  }

  /** Bodies of the first and the last report of usage, oldest first. */
  usageReports(): readonly unknown[] {
    return [this.#first, this.#last].flatMap((line) => (line === null ? [] : parse(line)));
  }

  #scan(lines: Buffer): void {
    for (let at = lines.indexOf(usageMark); at !== -1; at = lines.indexOf(usageMark, at + usageMark.length)) {
      if (noUsage.test(lines.toString('latin1', at, at + 32))) continue;
      const start = lines.lastIndexOf(10, at) + 1;
      const end = lines.indexOf(10, at);
      const line = lines.toString('utf8', start, end === -1 ? lines.length : end);
      if (this.#first === null) this.#first = line;
      else this.#last = line;
    }
  }
}

function parse(line: string): readonly unknown[] {
  const text = line.startsWith('data:') ? line.slice('data:'.length) : line;
  try {
    return [JSON.parse(text) as unknown];
  } catch {
    return []; // a line that only mentions usage tells none
  }
}
