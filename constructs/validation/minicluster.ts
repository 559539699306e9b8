import {
  formatIssue,
  type MiniClusterResource,
  renderMiniCluster,
  validateMiniCluster,
} from '../minicluster';
import type { Manifest } from './manifest';

/** Every mistake in a MiniCluster. */
export function miniClusterProblems(manifest: Manifest): string[] {
  return validateMiniCluster(resource(manifest)).map(formatIssue);
}

/** The objects of which a MiniCluster consists; none if it has a mistake. */
export function renderedObjects(manifest: Manifest): readonly Manifest[] {
  return validateMiniCluster(resource(manifest)).length > 0 ? [] : renderMiniCluster(resource(manifest));
}

function resource(manifest: Manifest): MiniClusterResource {
  return manifest as Manifest & MiniClusterResource;
}
