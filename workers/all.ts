import { type PoolName, pools, runPools } from './pools.ts';

await runPools(Object.keys(pools) as PoolName[]);
