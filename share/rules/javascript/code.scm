;; Code that is made or hidden while a program runs, and tricks with prototypes.

; id: js-eval
; severity: warn
; languages: javascript typescript
; message: eval runs text as code
; advice: write the code itself; use JSON.parse for data, a Map or an object of functions to choose by name
(call_expression
  function: [(identifier) @f
             (parenthesized_expression (sequence_expression (identifier) @f .))
             (member_expression object: (identifier) @global property: (property_identifier) @f)
             (subscript_expression object: (identifier) @global index: (string (string_fragment) @f))]
  (#eq? @f "eval")
  (#any-of? @global "globalThis" "window" "global" "self")) @finding

; id: js-function-constructor
; severity: warn
; languages: javascript typescript
; needs: Function( AsyncFunction GeneratorFunction .constructor( Function\s(
; message: the Function constructor runs text as code
; advice: write the function itself; close over the values it needs instead of putting them into its text
(new_expression constructor: (identifier) @f (#any-of? @f "Function" "AsyncFunction" "GeneratorFunction")) @finding
(call_expression function: (identifier) @f (#any-of? @f "Function" "AsyncFunction" "GeneratorFunction")) @finding
(call_expression
  function: (member_expression property: (property_identifier) @f)
  arguments: (arguments . [(string) (template_string)])
  (#eq? @f "constructor")) @finding

; id: js-timer-text
; severity: warn
; languages: javascript typescript
; needs: Timeout(" Timeout(' Timeout(` Interval(" Interval(' Interval(` Immediate(" Immediate('
; message: a timer is given text instead of a function
; advice: give setTimeout and setInterval a function: setTimeout(() => work(), 100)
(call_expression
  function: (identifier) @f
  arguments: (arguments . [(string) (template_string)])
  (#any-of? @f "setTimeout" "setInterval" "setImmediate")) @finding

; id: js-constructor-chain
; severity: block
; languages: javascript typescript
; needs: .constructor "constructor" 'constructor'
; message: constructor.constructor is a way to the Function constructor, used to leave sandboxes
; advice: leave it out; there is nothing behind it here, and new this.constructor(...) needs only one
(member_expression
  object: (member_expression property: (property_identifier) @a)
  property: (property_identifier) @b
  (#eq? @a "constructor") (#eq? @b "constructor")) @finding
(subscript_expression
  object: (subscript_expression index: (string (string_fragment) @a))
  index: (string (string_fragment) @b)
  (#eq? @a "constructor") (#eq? @b "constructor")) @finding
(subscript_expression
  object: (member_expression property: (property_identifier) @a)
  index: (string (string_fragment) @b)
  (#eq? @a "constructor") (#eq? @b "constructor")) @finding

; id: js-proto
; severity: warn
; languages: javascript typescript
; needs: __proto__ __define __lookup
; message: __proto__ and its relatives change what objects inherit
; advice: use Object.create, Object.getPrototypeOf or a class; use a Map for keys that come from data
(member_expression
  property: (property_identifier) @finding
  (#any-of? @finding "__proto__" "__defineGetter__" "__defineSetter__" "__lookupGetter__" "__lookupSetter__"))
(subscript_expression index: (string (string_fragment) @p) (#eq? @p "__proto__")) @finding
(pair key: [(property_identifier) (string)] @p (#any-of? @p "__proto__" "\"__proto__\"" "'__proto__'")) @finding

; id: js-builtin-prototype
; severity: warn
; languages: javascript typescript
; needs: .prototype setPrototypeOf
; message: a prototype that all code shares is changed
; advice: write a function that takes the value, or a subclass
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @b property: (property_identifier) @p))
  (#eq? @p "prototype")
  (#any-of? @b "Object" "Array" "String" "Number" "Boolean" "Function" "Promise" "Map" "Set" "RegExp" "Date" "Error" "Symbol")) @finding
(assignment_expression
  left: (subscript_expression
    object: (member_expression object: (identifier) @b property: (property_identifier) @p))
  (#eq? @p "prototype")
  (#any-of? @b "Object" "Array" "String" "Number" "Boolean" "Function" "Promise" "Map" "Set" "RegExp" "Date" "Error" "Symbol")) @finding
(call_expression
  function: (member_expression object: (identifier) @o property: (property_identifier) @f)
  arguments: (arguments . (member_expression object: (identifier) @b property: (property_identifier) @p))
  (#any-of? @o "Object" "Reflect")
  (#any-of? @f "setPrototypeOf" "defineProperty" "defineProperties" "assign")
  (#eq? @p "prototype")
  (#any-of? @b "Object" "Array" "String" "Number" "Boolean" "Function" "Promise" "Map" "Set" "RegExp" "Date" "Error" "Symbol")) @finding
(call_expression
  function: (member_expression object: (identifier) @o property: (property_identifier) @f)
  arguments: (arguments . (identifier) @b)
  (#any-of? @o "Object" "Reflect")
  (#eq? @f "setPrototypeOf")
  (#any-of? @b "Object" "Array" "String" "Number" "Boolean" "Function" "Promise" "Map" "Set" "RegExp" "Date" "Error" "Symbol" "globalThis")) @finding

; id: js-decode-and-run
; severity: block
; languages: javascript typescript
; needs: eval( Function(
; message: text is decoded and run as code
; advice: write the code itself, readable
(call_expression
  function: (identifier) @f
  arguments: (arguments) @args
  (#any-of? @f "eval" "Function")
  (#match? @args "atob|fromCharCode|fromCodePoint|Buffer\\.from|unescape|decodeURI|\\.reverse\\(\\)")) @finding
(new_expression
  constructor: (identifier) @f
  arguments: (arguments) @args
  (#eq? @f "Function")
  (#match? @args "atob|fromCharCode|fromCodePoint|Buffer\\.from|unescape|decodeURI|\\.reverse\\(\\)")) @finding

; id: js-char-codes
; severity: warn
; languages: javascript typescript
; needs: fromCharCode fromCodePoint
; message: text is spelled in numbers of characters
; advice: write the text itself
(call_expression
  function: (member_expression object: (identifier) @s property: (property_identifier) @f)
  arguments: (arguments) @args
  (#eq? @s "String")
  (#any-of? @f "fromCharCode" "fromCodePoint")
  (#match? @args "^\\(([ \n]*[0-9a-fA-Fx]+ *,){5,}")) @finding
(call_expression
  function: (member_expression object: (array) @codes property: (property_identifier) @map)
  arguments: (arguments) @args
  (#eq? @map "map")
  (#match? @args "fromCharCode|fromCodePoint")
  (#match? @codes "^\\[([ \n]*[0-9a-fA-Fx]+ *,){5,}")) @finding

; id: js-hidden-text
; severity: warn
; languages: javascript typescript
; needs: \x \u00 \u{
; message: ordinary text is spelled in escapes
; advice: write the text itself
((string) @finding (#min-length? @finding "48") (#match? @finding "(\\\\(x|u00)[0-9a-fA-F]{2}){12}"))
((identifier) @finding (#match? @finding "\\\\u(00|[{])"))

; id: js-long-encoded
; severity: warn
; languages: javascript typescript
; needs: atob Buffer.from
; message: a long text is decoded whose content nobody can read
; advice: give data as input or as a file, and code as code
(call_expression
  function: [(identifier) @f (member_expression property: (property_identifier) @f)]
  arguments: (arguments . (string (string_fragment) @data))
  (#any-of? @f "atob" "from")
  (#min-length? @data "200")
  (#match? @data "^[A-Za-z0-9+/=_-]*$")) @finding

; id: js-obfuscated
; severity: warn
; languages: javascript typescript
; needs: _0x
; message: names are made up by an obfuscator
; advice: write the program with names that say what they mean
(variable_declarator name: (identifier) @finding (#match? @finding "^_0x[0-9a-f]{3,}$"))
(function_declaration name: (identifier) @finding (#match? @finding "^_0x[0-9a-f]{3,}$"))
