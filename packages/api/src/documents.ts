/**
 * Every service that describes itself.
 *
 * @module
 */
import { agentApi } from './agent/agent-api.ts';
import { edgeApi } from './edge/edge-api.ts';
import { gateApi } from './gate/gate-api.ts';
import type { Api } from './openapi/route.ts';
import { platformApi } from './platform/platform-api.ts';

export const apis: readonly Api[] = [agentApi, platformApi, edgeApi, gateApi];
