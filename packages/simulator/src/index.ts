export { describeFault, type Fault, type FaultName, faultNames, type Reach } from './faults.js';
export {
  type CallWithResult,
  callsWithResults,
  firstUserText,
  lastResult,
  lastUserText,
  offers,
  systemText,
  turnsTaken,
} from './messages.js';
export { loadScenario } from './load-scenario.js';
export type { ServedRequest } from './request-log.js';
export type {
  Answer,
  AnsweredToolCall,
  FinishReason,
  Message,
  OfferedTool,
  Pause,
  ProtocolName,
  ReportedUsage,
  Scenario,
  ScenarioRequest,
  ToolCall,
} from './scenario.js';
export { defaultScenario } from './scenarios/default.js';
export { scenarioNamed, scenarioNames } from './scenarios/index.js';
export { type ArrivedRequest, type Simulator, type SimulatorOptions, startSimulator } from './server.js';
export { countInputTokens, countOutputTokens, countTokens } from './tokens.js';
