export { type StoreSource, type TestRunner, testLedger } from './conformance.js';
export { type Kit, type LedgerCase, type OpenLedger } from './conformance-kit.js';
export { type PlayOptions, playSteps, type Step } from './play-steps.js';
