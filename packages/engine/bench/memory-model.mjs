// @ts-check
/** A model in memory that says what a work's script says. */

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** @param {import('../../../bench/peers/work.mjs').Work} work */
export function modelOf(work) {
  const doGenerate = async () => {
    const { call, text = '' } = work.next();
    const content = call
      ? [{ type: 'tool-call', toolCallId: call.id, toolName: 'add', input: JSON.stringify(call.input) }]
      : [{ type: 'text', text }];
    const unified = call ? 'tool-calls' : 'stop';
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
  };
  return /** @type {never} */ ({
    specificationVersion: 'v3',
    provider: 'memory',
    modelId: 'm',
    supportedUrls: {},
    doGenerate,
    doStream: doGenerate,
  });
}
