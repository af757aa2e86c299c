#!/usr/bin/env node
import '../dist/pool-prover.js';
