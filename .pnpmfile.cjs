/**
 * The AI SDK's providers of specification v4 ask for Node 22. Only tests use them, to see that hooks fit all specifications,
 * and what is used of them runs on Node 20 too; `engineStrict` stays on for everything else.
 */
const isProviderOfSpecification4 = ({ name = '', version = '' }) =>
  (/^@ai-sdk\/(anthropic|google|openai|provider|gateway)$/.test(name) && version.startsWith('4.')) ||
  (name === '@ai-sdk/openai-compatible' && version.startsWith('3.')) ||
  (name === '@ai-sdk/provider-utils' && version.startsWith('5.'));

module.exports = {
  hooks: {
    readPackage(manifest) {
      if (isProviderOfSpecification4(manifest)) delete manifest.engines;
      return manifest;
    },
  },
};
