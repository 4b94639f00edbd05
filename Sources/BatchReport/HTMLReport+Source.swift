extension HTMLReport {
  /// The template, a Mustache document over ``HTMLPage``.
  static let source =
    #"""
    {{% CONTENT_TYPE:REPORT}}
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
    <meta name="generator" content="engage-batch">
    <title>{{job}} - engage-batch</title>
    <style>

    """# + style + #"""

      </style>
      </head>
      <body>
      <main>
      <header><h1>{{job}}</h1><span class="badge {{tone}}">{{ending}}</span></header>
      {{#failure}}
      <p class="attention">{{.}}</p>
      {{/failure}}
      <p>{{story}}</p>
      <div class="tiles">
      {{#tiles}}
      <div class="tile"><b class="{{tone}}">{{figure}}</b><span>{{label}}</span></div>
      {{/tiles}}
      </div>
      {{^empty(steps)}}
      <section class="todo"><h2>To do</h2><ul>
      {{#steps}}
      <li>{{.}}</li>
      {{/steps}}
      </ul></section>
      {{/empty(steps)}}
      {{^empty(charts)}}
      <div class="columns charts">
      {{#charts}}
      <section><h2>{{title}}</h2>
      <figure>
      <svg viewBox="0 0 360 {{height}}" role="img" aria-labelledby="{{id}}-title {{id}}-text">
      <title id="{{id}}-title">{{title}}</title><desc id="{{id}}-text">{{summary}}</desc>
      {{#lines}}
      <line x1="34" x2="356" y1="{{y}}" y2="{{y}}"/>
      {{/lines}}
      {{#boxes}}
      <rect x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}" class="{{tone}}"><title>{{words}}</title></rect>
      {{/boxes}}
      {{#labels}}
      <text x="{{x}}" y="{{y}}" text-anchor="{{anchor}}"{{^empty(size)}} class="{{size}}"{{/empty(size)}}>{{text}}</text>
      {{/labels}}
      </svg>
      {{^empty(keys)}}
      <ul class="keys">
      {{#keys}}
      <li><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" class="{{tone}}"/></svg>{{name}}</li>
      {{/keys}}
      </ul>
      {{/empty(keys)}}
      <figcaption>{{summary}}</figcaption>
      </figure>
      {{^empty(rows)}}
      <details{{^empty(numbers)}} class="{{numbers}}"{{/empty(numbers)}}><summary>The numbers</summary>
      <table class="stack"><caption>{{title}}</caption><thead><tr>{{#columns}}<th scope="col">{{.}}</th>{{/columns}}</tr></thead><tbody>
      {{#rows}}
      <tr><th scope="row">{{name}}</th>{{#cells}}<td data-label="{{label}}">{{figure}}</td>{{/cells}}</tr>
      {{/rows}}
      </tbody></table></details>
      {{/empty(rows)}}
      </section>
      {{/charts}}
      </div>
      {{/empty(charts)}}
      <div class="columns">
      {{^empty(events)}}
      <section><h2>Events by type</h2><table><caption>Events that the records of this run became</caption>
      {{#events}}
      <tr><th scope="row"><code>{{name}}</code> {{note}}</th><td class="wide"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="{{share}}" height="8"/></svg></td><td class="number">{{figure}}</td></tr>
      {{/events}}
      </table></section>
      {{/empty(events)}}
      {{^empty(store)}}
      <section><h2>Events in the store</h2><table><caption>All events of the store by status</caption>
      {{#store}}
      <tr><th scope="row"><code>{{name}}</code></th><td class="wide"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="{{share}}" height="8"/></svg></td><td class="number">{{figure}}</td></tr>
      {{/store}}
      </table></section>
      {{/empty(store)}}
      <section><h2>Upload</h2><table><caption>What was sent, and how it was answered</caption>
      {{#uploads}}
      <tr><th scope="row">{{name}}</th><td class="number">{{figure}}</td></tr>
      {{/uploads}}
      </table>
      {{^empty(uploadInWords)}}
      <dl>
      {{#uploadInWords}}
      <dt>{{name}}</dt><dd>{{figure}}</dd>
      {{/uploadInWords}}
      </dl>
      {{/empty(uploadInWords)}}
      </section>
      <section><h2>Sessions and campaigns</h2><table><caption>Counted by the rules of this run</caption>
      {{#others}}
      <tr><th scope="row">{{name}}</th><td class="number">{{figure}}</td></tr>
      {{/others}}
      </table>
      {{^empty(otherInWords)}}
      <dl>
      {{#otherInWords}}
      <dt>{{name}}</dt><dd>{{figure}}</dd>
      {{/otherInWords}}
      </dl>
      {{/empty(otherInWords)}}
      </section>
      {{^empty(identities)}}
      <section><h2>Identity</h2><table><caption>What became of identity checks</caption>
      {{#identities}}
      <tr><th scope="row">{{name}}</th><td class="number">{{figure}}</td></tr>
      {{/identities}}
      </table></section>
      {{/empty(identities)}}
      {{^empty(stages)}}
      <section><h2>Time</h2><table><caption>How long each part took</caption>
      {{#stages}}
      <tr><th scope="row">{{name}}</th><td class="wide"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="{{share}}" height="8"/></svg></td><td class="number">{{figure}}</td></tr>
      {{/stages}}
      </table></section>
      {{/empty(stages)}}
      </div>
      {{^empty(unsent)}}
      <section class="long"><h2>Not sent yet</h2><table class="stack"><caption>Every event of the store that the service does not have, and what sends it</caption>
      <thead><tr><th scope="col">why</th><th scope="col" class="number">events</th><th scope="col">status</th><th scope="col">decided by</th><th scope="col">ends with</th></tr></thead><tbody>
      {{#unsent}}
      <tr><th scope="row">{{reason}}</th><td class="number" data-label="events">{{figure}}</td><td data-label="status"><code>{{status}}</code></td><td data-label="decided by">{{setting}}</td><td data-label="ends with">{{ends}}</td></tr>
      {{/unsent}}
      </tbody></table></section>
      {{/empty(unsent)}}
      {{^empty(reasons)}}
      <section class="long"><h2>Quarantine</h2><table class="stack"><caption>What was quarantined, by reason</caption>
      <thead><tr><th scope="col">reason</th><th scope="col"></th><th scope="col" class="number">lines</th><th scope="col">what to do</th></tr></thead><tbody>
      {{#reasons}}
      <tr><th scope="row"><code>{{name}}</code></th><td class="wide"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="{{share}}" height="8"/></svg></td><td class="number" data-label="lines">{{figure}}</td><td data-label="what to do">{{note}}</td></tr>
      {{/reasons}}
      </tbody></table>
      {{^empty(quarantine)}}
      <table class="stack"><caption>{{quarantineTitle}}</caption>
      <thead><tr><th scope="col">place</th><th scope="col" class="number">offset</th><th scope="col">reason</th><th scope="col">detail</th></tr></thead><tbody>
      {{#quarantine}}
      <tr><th scope="row"><code>{{place}}</code>{{#content}}<br><code class="soft">{{.}}</code>{{/content}}</th><td class="number" data-label="offset">{{offset}}</td><td data-label="reason"><code>{{reason}}</code></td><td data-label="detail">{{detail}}</td></tr>
      {{/quarantine}}
      </tbody></table>
      {{/empty(quarantine)}}
      </section>
      {{/empty(reasons)}}
      {{^empty(warnings)}}
      <section class="long"><h2>Warnings</h2>
      {{#warnings}}
      <h3><code>{{kind}}</code> {{figure}}</h3>
      <table class="stack"><caption>The first places</caption>
      <thead><tr><th scope="col">place</th><th scope="col">device</th><th scope="col">detail</th></tr></thead><tbody>
      {{#places}}
      <tr><th scope="row"><code>{{place}}</code></th><td data-label="device"><code>{{device}}</code></td><td data-label="detail">{{detail}}</td></tr>
      {{/places}}
      </tbody></table>
      {{/warnings}}
      </section>
      {{/empty(warnings)}}
      {{^empty(merges)}}
      <section class="long"><h2>Identity plans</h2><table class="stack"><caption>Recipients that were merged or changed, those that wait for somebody first</caption>
      <thead><tr><th scope="col" class="number">plan</th><th scope="col">scenario</th><th scope="col">state</th><th scope="col">device</th><th scope="col">from</th><th scope="col">to</th><th scope="col">reason</th></tr></thead><tbody>
      {{#merges}}
      <tr><th scope="row" class="number">{{plan}}</th><td data-label="scenario">{{words}}<br><code class="soft">{{scenario}}</code></td><td class="{{tone}}" data-label="state">{{state}}</td><td data-label="device"><code>{{device}}</code></td><td data-label="from"><code>{{loser}}</code></td><td data-label="to"><code>{{winner}}</code></td><td data-label="reason">{{reason}}</td></tr>
      {{/merges}}
      </tbody></table></section>
      {{/empty(merges)}}
      {{#sections}}
      <section class="long"><h2>{{title}}</h2><table class="{{kind}}"><caption class="heard">{{title}}</caption>
      <thead><tr>{{#heads}}<th scope="col" class="{{kind}}">{{text}}</th>{{/heads}}</tr></thead><tbody>
      {{#rows}}
      <tr>{{#cells}}<td class="{{kind}}" data-label="{{label}}">{{text}}</td>{{/cells}}</tr>
      {{/rows}}
      </tbody></table></section>
      {{/sections}}
      {{^empty(fields)}}
      <section><h2>Fields that the format does not know</h2><table><caption>Ignored, with the number of records that have them</caption>
      {{#fields}}
      <tr><th scope="row"><code>{{name}}</code></th><td class="number">{{figure}}</td></tr>
      {{/fields}}
      </table></section>
      {{/empty(fields)}}
      {{^empty(notes)}}
      <section><h2>Notes</h2><ul>
      {{#notes}}
      <li>{{.}}</li>
      {{/notes}}
      </ul></section>
      {{/empty(notes)}}
      <section class="long"><h2>This run</h2><dl>
      {{#facts}}
      <dt>{{name}}</dt><dd>{{value}}</dd>
      {{/facts}}
      </dl>
      {{^empty(layers)}}
      <h3>Configuration, later layers win</h3><ol>
      {{#layers}}
      <li><code>{{.}}</code></li>
      {{/layers}}
      </ol>
      {{/empty(layers)}}
      {{^empty(settings)}}
      <table class="stack"><caption>Settings that are not the built-in default; secrets are left out</caption>
      <thead><tr><th scope="col">setting</th><th scope="col">value</th><th scope="col">from</th></tr></thead><tbody>
      {{#settings}}
      <tr><th scope="row"><code>{{name}}</code></th><td data-label="value"><code>{{value}}</code></td><td data-label="from">{{origin}}</td></tr>
      {{/settings}}
      </tbody></table>
      {{/empty(settings)}}
      </section>
      {{^empty(questions)}}
      <section class="long"><h2>To ask further</h2><dl>
      {{#questions}}
      <dt>{{name}}</dt><dd><code>{{value}}</code></dd>
      {{/questions}}
      </dl></section>
      {{/empty(questions)}}
      <footer>{{privacy}}</footer>
      </main>
      </body>
      </html>

      """#
}
