import { CONNECTORS_CONNECTIONS, startConnectors } from '../src/areas/usage/connectors/start-connectors.ts';
import { runPoolProcess, servePools } from '../src/jobs/serve-pools/serve-pools.ts';

// Without the table of pools, which loads what every pool needs: measured, 110 MB at the start in place of 180. A
// stream is read in what is left to 250 MB.
const pool = { name: 'connectors', start: startConnectors, connections: CONNECTORS_CONNECTIONS };
await runPoolProcess('connectors', (config, log) => servePools(config, { name: 'connectors', pools: [pool] }, log));
