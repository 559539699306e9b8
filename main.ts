/** App of `npm run synth`: it writes the stack with all defaults to dist/. */
import { App } from 'cdk8s';
import { defaultStack } from './constructs/fluxqueue';
import { writeKustomization } from './constructs/gitops';

const app = new App();
defaultStack(app);
app.synth();
writeKustomization(app);
