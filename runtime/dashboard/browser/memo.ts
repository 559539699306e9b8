/** Draws a component again only when its properties differ in a way that is seen. preact has this in its larger `preact/compat` alone. */
import { Component, type ComponentChildren, type FunctionComponent, h } from 'preact';

export function memo<P extends object>(
  draw: (props: P) => ComponentChildren,
  isSame: (before: P, after: P) => boolean,
): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return !isSame(this.props, next);
    }

    override render(): ComponentChildren {
      return draw(this.props);
    }
  }
  return (props) => h(Memo as never, props);
}
