import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type EstimatedRequest, estimateRequest } from './estimate.js';
import { type Place, rawPlaces, sdkPlaces, sdkRequest } from './estimate-places.test.helper.js';
import { defaultPriceBook } from './price-data.js';
import { estimatedRequestOf } from './raw-request.js';
import { textTokens } from './text-tokens.js';

/** Never base64: it has a space. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'the quick brown fox ',
        'dGhlIHF1aWNrIGJyb3du',
        '0123456789abcdef',
        'wörter\n',
        '"{}"\\',
        '日本語',
        '👩‍🚀\t',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .chain((pieces) => fc.integer({ min: 1, max: 300 }).map((times) => `${pieces.join('').repeat(times)} `));

type Request = Record<string, unknown>;

/** Puts texts into places, one after the other, and compares the estimate after the last with the one before. */
function holdsEveryText(places: readonly Place[], fresh: () => Request, read: (request: Request) => EstimatedRequest) {
  const put = fc.tuple(fc.constantFrom(...places), text);
  return fc.property(fc.array(put, { maxLength: 4 }), put, fc.boolean(), (others, [[name, add], last], bound) => {
    const estimate = (request: Request) => estimateRequest(read(request), { prices: defaultPriceBook, bound });
    const request = fresh();
    for (const [[, addOther], other] of others) addOther(request, other);
    const before = estimate(request);
    add(request, last);
    const after = estimate(request);
    const own = textTokens(last, { bound });
    expect(after.inputTokens - before.inputTokens, name).toBeGreaterThanOrEqual(own - 1); // two sums, each rounded up
    expect(after.tokens, name).toBeGreaterThanOrEqual(before.tokens);
    expect(after.costMicros, name).toBeGreaterThanOrEqual(before.costMicros ?? Number.NaN);
  });
}

for (const [dialect, places] of Object.entries(rawPlaces)) {
  it(`holds every text of a raw request at its own size at least, wherever it is put (${dialect})`, () => {
    const fresh = (): Request => ({ model: 'any', max_tokens: 10 });
    const read = (body: Request) =>
      estimatedRequestOf(JSON.parse(JSON.stringify(body)), { provider: 'simulated' }) as EstimatedRequest;
    fc.assert(holdsEveryText(places, fresh, read), { numRuns: 120 });
    for (const place of places) fc.assert(holdsEveryText([place], fresh, read), { numRuns: 3 });
  });
}

it('holds every text of a request of the AI SDK at its own size at least, wherever it is put', () => {
  const read = (request: Request) => request as unknown as EstimatedRequest;
  fc.assert(holdsEveryText(sdkPlaces, sdkRequest, read), { numRuns: 120 });
  for (const place of sdkPlaces) fc.assert(holdsEveryText([place], sdkRequest, read), { numRuns: 3 });
});
