import { runPools } from './pools.ts';

await runPools(['budgets']);
