/**
 * The message id for handing over what was typed, and what to keep beside the draft: the same again, after a lost connection or a reload, is the same message; what was
 * changed since is another one, so that neither acts twice and neither is taken for the other.
 */
export function sentAs(
  kept: string,
  typed: unknown,
  newId: () => string,
): { readonly id: string; readonly kept: string } {
  const text = JSON.stringify(typed);
  const [id, before] = readKept(kept);
  if (id !== undefined && before === text) return { id, kept };
  const fresh = newId();
  return { id: fresh, kept: JSON.stringify([fresh, text]) };
}

function readKept(kept: string): readonly (string | undefined)[] {
  try {
    const pair: unknown = JSON.parse(kept);
    return Array.isArray(pair) ? pair.map(String) : [];
  } catch {
    return []; // nothing was kept, or by another version of the page
  }
}
