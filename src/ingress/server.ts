import { operations } from '../operations.ts';
import { runProcess } from '../platform/process/run-process.ts';
import { startCellsIngress } from './cells/start-cells-ingress.ts';
import { startIngress } from './start-ingress.ts';

await runProcess('ingress', async (config, log) => {
  const ingress =
    config.CELLS === undefined
      ? await startIngress(config, operations, log)
      : await startCellsIngress(config, { operations, log });
  log.info({ url: ingress.url }, 'ingress listening');
  return ingress;
});
