export { type Bridge, startBridge } from './bridge.js';
export { BridgeError, type BridgeErrorCode, isBridgeError } from './errors.js';
export type { BridgeOptions, LogEntry } from './options.js';
