/**
 * Every service that describes itself.
 *
 * @module
 */
import { agentApi } from './agent-api.ts';
import { edgeApi } from './edge-api.ts';
import { gateApi } from './gate-api.ts';
import { platformApi } from './platform-api.ts';
import type { Api } from './route.ts';

export const apis: readonly Api[] = [agentApi, platformApi, edgeApi, gateApi];
