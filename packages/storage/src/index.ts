/**
 * Files and databases of one machine: complete or absent after a crash, and readable by their owner only.
 *
 * @module
 */

export { createDurableFile, replaceDurableFile, syncFolder } from './durable-file.ts';
export { type FileLock, lockFile } from './file-lock.ts';
export { explainFullDisk, isCode, resultCodeOf } from './full-disk.ts';
export {
  laterVersion,
  makePrivateFile,
  openNamedDatabase,
  openPrivateDatabase,
  type PrivateDatabase,
  refuseLaterVersion,
  runInTransaction,
} from './private-database.ts';
