import { setFlagsFromString } from 'node:v8';
import { CONNECTORS_CONNECTIONS, startConnectors } from '../src/areas/usage/connectors/start-connectors.ts';
import { runPoolProcess, servePools } from '../src/jobs/serve-pools/serve-pools.ts';

// A file of 5 GiB is read within 250 MiB. Measured with one whose rows are long texts, which become garbage at once:
// 251 to 272 MiB where the heap may grow fourfold between two collections, 183 where by half.
setFlagsFromString('--heap-growing-percent=50');

// Without the table of pools, which loads what every pool needs: 120 MiB at the start in place of 180.
const pool = { name: 'connectors', start: startConnectors, connections: CONNECTORS_CONNECTIONS };
await runPoolProcess('connectors', (config, log) => servePools(config, { name: 'connectors', pools: [pool] }, log));
