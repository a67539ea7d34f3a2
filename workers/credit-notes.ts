import { runPools } from './pools.ts';

await runPools(['credit-notes']);
