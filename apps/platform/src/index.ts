export { serveGate } from './gate/serve-gate.ts';
export { type Served, servePlatform } from './serve-platform.ts';
