import type { Gate } from '@stint/storage';
import type { Output } from './output.js';

/** Options of every command. */
export interface CommonOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** What a command is given besides its words. */
export interface CommandContext {
  readonly options: CommonOptions & Readonly<Record<string, unknown>>;
  readonly output: Output;
  /** The words of the command line, where the command may run again in a process of its own: its output is that of this process. */
  readonly words?: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called at the named points at which crash tests end the process. */
  readonly gate?: Gate | undefined;
}
