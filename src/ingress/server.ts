import { operations } from '../operations.ts';
import { runProcess } from '../platform/process/run-process.ts';
import { startIngress } from './start-ingress.ts';

await runProcess('ingress', async (config, log) => {
  const ingress = await startIngress(config, operations, log);
  log.info({ url: ingress.url }, 'ingress listening');
  return ingress;
});
