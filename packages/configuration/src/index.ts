/**
 * Variables of a service: kinds, layers and readings. All problems are reported at once, by name and never by value.
 *
 * @module
 */

export { parseChainsFile, readChainsFile } from './chains-file.ts';
export {
  evmAddress,
  opaqueSecret,
  privateKey,
  serviceUrl,
  walletPub,
} from './domain-kinds.ts';
export { editEnvFile } from './edit-env-file.ts';
export {
  accept,
  bearerSecret,
  type ConfigRemark,
  type ConfigVariable,
  type CredentialForm,
  choice,
  createRemark,
  type DefaultedVariable,
  hostNames,
  integer,
  type Kind,
  type LogLevel,
  listenHost,
  logLevels,
  matching,
  type Parsed,
  path,
  reject,
  secret,
  text,
} from './kinds.ts';
export {
  type ConfigFile,
  type ConfigLayers,
  type ConfigSource,
  createConfigFiles,
  findText,
  type Layer,
} from './layers.ts';
export {
  type ConfigReader,
  type ConfigValues,
  createConfigReader,
  type Origin,
  readVariable,
} from './reader.ts';
export {
  describeVariable,
  findOpenSecrets,
  findUnknownVariables,
  listNames,
  type VariableReport,
} from './report.ts';
export {
  findSharedCredentials,
  isSameSecret,
  listCredentials,
  type Separation,
} from './separation.ts';
export { renderConfigTable, replaceConfigTable } from './table.ts';
