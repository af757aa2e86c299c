/**
 * The file of the agent's configuration: chosen by `--env-file`, else `$AGENT_ENV`, else `agent.env` in the agent directory.
 *
 * @module
 */
import { createConfigFiles } from '@pool/configuration';

export const { chooseConfigFile, createLayers, readConfigFile, readEnvFile } = createConfigFiles({
  homeVariable: 'DISBURSE_HOME',
  homeFolder: '.disburse-agent',
  fileVariable: 'AGENT_ENV',
  fileName: 'agent.env',
  ownName: /^(?:DISBURSE|POOL_GATE|ONBOARD|NODE)_[A-Z0-9_]+$/,
});
