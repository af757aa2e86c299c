#!/usr/bin/env node
import '../dist/pool-enclave.js';
