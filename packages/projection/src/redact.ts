import { createPathRedactor } from './redact-paths.js';
import { createSecretRedactor } from './redact-secrets.js';

/** What the redactor knows of this machine. */
export interface RedactionOptions {
  /** Canonical path of the workspace: paths inside become relative. null = no workspace, every absolute path is masked. */
  readonly workspaceRoot: string | null;
  /** Values that are masked wherever they stand, such as the agent's own keys. @default [] */
  readonly knownSecrets?: readonly string[];
  /** Directories of this machine whose paths are recognised besides the usual ones. @default [] */
  readonly privateRoots?: readonly string[];
}

/** Takes secrets, address queries and paths outside the workspace out of texts, and counts what it masked. */
export interface Redactor {
  /** @returns the text without them; running it again changes nothing. */
  redact(text: string): string;
  /** How many places were masked since the redactor was made. */
  readonly maskedCount: number;
  /** @returns one of the same rules that counts from 0; far cheaper than making it anew. */
  fork(): Redactor;
}

/** Query and fragment of an address: session ids, signatures and codes live there. */
const QUERY =
  /\b((?:https?|wss?|ftp|postgres(?:ql)?|redis|mongodb(?:\+srv)?|mysql|amqps?):\/\/[^\s"'<>`?#]{1,2048})[?#](?!\[query\])[^\s"'<>`)\]]+/gi;

/** @returns a redactor that remembers nothing but its count. */
export function createRedactor(options: RedactionOptions): Redactor {
  const redactSecrets = createSecretRedactor(options.knownSecrets ?? []);
  const redactPaths = createPathRedactor(options.workspaceRoot, options.privateRoots ?? []);
  return countingRedactor((text, onMasked) =>
    redactPaths(redactQueries(redactSecrets(text, onMasked), onMasked), onMasked),
  );
}

function countingRedactor(rules: (text: string, onMasked: () => void) => string): Redactor {
  let maskedCount = 0;
  const onMasked = (): void => {
    maskedCount += 1;
  };
  return {
    redact: (text) => rules(text, onMasked),
    get maskedCount() {
      return maskedCount;
    },
    fork: () => countingRedactor(rules),
  };
}

function redactQueries(text: string, onMasked: () => void): string {
  if (!text.includes('://')) return text;
  return text.replace(QUERY, (_match, address: string) => {
    onMasked();
    return `${address}?[query]`;
  });
}
