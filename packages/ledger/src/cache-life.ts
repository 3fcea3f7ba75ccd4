interface Optioned {
  readonly providerOptions?: unknown;
}

/** What is looked at of a request. */
interface CachedRequest {
  readonly prompt: readonly object[];
  readonly tools?: readonly object[];
  readonly settings?: Optioned;
}

/** Answers for frozen messages and tools. */
const kept = new WeakMap<object, boolean>();

/**
 * True if a request asks to keep some of its prompt in the provider's cache for an hour, which costs more than five minutes. It can be said
 * for the whole request, a message, a part, a tool, a tool's result or a member of that.
 */
export function asksForOneHour({ prompt, tools = [], settings = {} }: CachedRequest): boolean {
  return saysOneHour(settings) || tools.some(anyOnce) || prompt.some(anyOnce);
}

function anyOnce(value: object): boolean {
  const known = kept.get(value);
  if (known !== undefined) return known;
  const answer = optionedIn(value).some(saysOneHour);
  if (Object.isFrozen(value)) kept.set(value, answer);
  return answer;
}

/** A message, a part or a tool, and what is inside it that can have options of its own. */
function optionedIn(value: object): readonly Optioned[] {
  const { content, output } = value as { content?: unknown; output?: { value?: unknown } };
  const inner = [content, output === undefined ? [] : [output], output?.value].flatMap((list) =>
    Array.isArray(list) ? list.filter((each): each is object => typeof each === 'object' && each !== null) : [],
  );
  return [value, ...inner.flatMap(optionedIn)];
}

function saysOneHour({ providerOptions }: Optioned): boolean {
  return providerOptions !== undefined && (JSON.stringify(providerOptions) ?? '').includes('"1h"');
}
