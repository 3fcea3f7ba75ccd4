import { createHash } from 'node:crypto';
import { refusal } from './errors.js';

/** What the files looked like when this set of tools last read or wrote them. */
export interface FileVersions {
  /** Notes the content that the model now knows. */
  saw(real: string, content: Uint8Array): void;
  /** Forgets a file that is gone. */
  forget(real: string): void;
  /** @throws ToolError `stale` when the content is not what was last seen. A file never seen passes. */
  requireCurrent(real: string, shown: string, content: Uint8Array | undefined): void;
}

export function createFileVersions(): FileVersions {
  const seen = new Map<string, string>();
  return {
    saw: (real, content) => void seen.set(real, digest(content)),
    forget: (real) => void seen.delete(real),
    requireCurrent(real, shown, content) {
      const known = seen.get(real);
      if (known === undefined) return;
      if (content === undefined)
        throw refusal('stale', `"${shown}" was removed since it was last read. Read it again to see.`);
      if (digest(content) !== known)
        throw refusal('stale', `"${shown}" changed since it was last read. Read it again before writing.`);
    },
  };
}

function digest(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('base64');
}
