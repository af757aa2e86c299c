/**
 * Files and databases of one machine: complete or absent after a crash, and readable by their owner only.
 *
 * @module
 */
