/** What `npm run synth` writes to dist/: the stack with nothing but defaults. */
import { App } from 'cdk8s';
import { defaultStack } from './constructs/fluxqueue';

const app = new App();
defaultStack(app);
app.synth();
