export { serveGate } from './serve-gate.ts';
export { type Served, servePlatform } from './serve-platform.ts';
