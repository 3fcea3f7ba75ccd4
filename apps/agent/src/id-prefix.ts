import { usageFailure } from './failure.js';

/** The one id that begins with `prefix`; a whole id always wins. @throws CommandFailure (usage) when none or several do */
export function uniqueId(prefix: string, ids: readonly string[], what: string): string {
  if (ids.includes(prefix)) return prefix;
  const found = ids.filter((id) => id.startsWith(prefix));
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  if (found.length === 0) throw usageFailure(`There is no ${what} "${prefix}". \`stint list\` shows what there is.`);
  throw usageFailure(`Several ${what}s begin with "${prefix}"; give more of the id: ${found.slice(0, 5).join(', ')}`);
}
