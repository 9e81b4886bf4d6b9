;; What a cell has not: other programs, sockets, native code, the host's own files.

; id: py-process
; severity: warn
; languages: python
; needs: subprocess multiprocessing pexpect pty popen .system fork kill execv execl spawn setuid setgid chroot system
; message: a cell cannot start other programs
; advice: ask the host for a tool that does what is needed; threading and asyncio work
(import_statement name: [(dotted_name) @module (aliased_import name: (dotted_name) @module)]
  (#match? @module "^(subprocess|multiprocessing|_?pty|pexpect)(\\.|$)")) @finding
(import_from_statement module_name: (dotted_name) @module
  (#match? @module "^(subprocess|multiprocessing|_?pty|pexpect)(\\.|$)")) @finding
(call
  function: (attribute object: (identifier) @os attribute: (identifier) @f)
  (#any-of? @os "os" "posix")
  (#match? @f "^(system|popen|fork|forkpty|kill|killpg|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|setuid|setgid|chroot)$")) @finding
(import_from_statement module_name: (dotted_name) @os name: (dotted_name) @f
  (#eq? @os "os")
  (#match? @f "^(system|popen|fork|kill|exec[lv]p?e?|spawn[lv]p?e?)$")) @finding
(call
  function: (attribute object: (identifier) @a attribute: (identifier) @f)
  (#eq? @a "asyncio")
  (#any-of? @f "create_subprocess_exec" "create_subprocess_shell")) @finding

; id: py-socket
; severity: warn
; languages: python
; needs: socket ssl http.server ftplib smtplib poplib imaplib nntplib telnetlib xmlrpc asyncore paramiko flask fastapi selenium webbrowser open_connection start_server open_unix
; message: a cell has no sockets
; advice: ask the host for a tool that fetches or sends what is needed
(import_statement name: [(dotted_name) @module (aliased_import name: (dotted_name) @module)]
  (#match? @module "^(socket|ssl|socketserver|http\\.server|ftplib|smtplib|poplib|imaplib|nntplib|telnetlib|xmlrpc|asyncore|paramiko|websockets?|flask|fastapi|selenium|webbrowser)(\\.|$)")) @finding
(import_from_statement module_name: (dotted_name) @module
  (#match? @module "^(socket|ssl|socketserver|http\\.server|ftplib|smtplib|poplib|imaplib|nntplib|telnetlib|xmlrpc|asyncore|paramiko|websockets?|flask|fastapi|selenium|webbrowser)(\\.|$)")) @finding
(call
  function: (attribute object: (identifier) @a attribute: (identifier) @f)
  (#eq? @a "asyncio")
  (#any-of? @f "open_connection" "start_server" "open_unix_connection")) @finding

; id: py-network-client
; severity: info
; languages: python
; needs: requests httpx aiohttp urllib3 urllib.request urllib\simport http.client boto3 openai
; message: requests to servers work only where the environment allows this address
; advice: expect them to be refused, and say in the result what could not be fetched
(import_statement name: [(dotted_name) @module (aliased_import name: (dotted_name) @module)]
  (#match? @module "^(requests|httpx|aiohttp|urllib3|urllib\\.request|http\\.client|boto3|openai)(\\.|$)")) @finding
(import_from_statement module_name: (dotted_name) @module
  (#match? @module "^(requests|httpx|aiohttp|urllib3|urllib\\.request|http\\.client|boto3|openai)(\\.|$)")) @finding
(import_from_statement module_name: (dotted_name) @module name: (dotted_name) @name
  (#eq? @module "urllib") (#eq? @name "request")) @finding

; id: py-native-code
; severity: warn
; languages: python
; needs: ctypes cffi _posixsubprocess
; message: native code cannot be loaded in a cell
; advice: write it in Python, or use an environment that has the package
(import_statement name: [(dotted_name) @module (aliased_import name: (dotted_name) @module)]
  (#match? @module "^(_?ctypes|cffi|_posixsubprocess)(\\.|$)")) @finding
(import_from_statement module_name: (dotted_name) @module
  (#match? @module "^(_?ctypes|cffi|_posixsubprocess)(\\.|$)")) @finding

; id: py-install
; severity: warn
; languages: python
; needs: pip venv setuptools virtualenv
; message: packages cannot be installed in a cell
; advice: use what is there; the environment decides
(import_statement name: [(dotted_name) @module (aliased_import name: (dotted_name) @module)]
  (#match? @module "^(pip|ensurepip|venv|setuptools|virtualenv)(\\.|$)")) @finding
(import_from_statement module_name: (dotted_name) @module
  (#match? @module "^(pip|ensurepip|venv|setuptools|virtualenv)(\\.|$)")) @finding

; id: py-import-not-allowed
; severity: block
; languages: python
; needs: import
; message: the environment does not allow programs to import this module
; advice: use one of the modules in allowed_imports of the environment
(import_statement name: [(dotted_name) @finding (aliased_import name: (dotted_name) @finding)]
  (#not-allowed-import? @finding))
(import_from_statement module_name: (dotted_name) @finding
  (#not-allowed-import? @finding))

; id: py-host-path
; severity: warn
; languages: python
; needs: /etc/ /proc/ /sys/ /root/ /var/run/docker .ssh/ .aws/ .kube/
; message: this file is the host's, and is not there
; advice: programs see only their own files beneath /home/vial; ask for what is needed as a file of the run
((string_content) @finding
  (#min-length? @finding "6")
  (#match? @finding "^(/etc/(passwd|shadow|sudoers)|/proc/|/sys/|/root/|/var/run/docker)|\\.ssh/|\\.aws/credentials|\\.kube/config"))

; id: py-metadata-address
; severity: warn
; languages: python
; needs: 169.254.169.254 metadata.google fd00:ec2
; message: this is the address of a cloud's metadata, which gives out credentials
; advice: leave it out; it is refused whatever the environment allows
((string_content) @finding
  (#min-length? @finding "15")
  (#match? @finding "169\\.254\\.169\\.254|metadata\\.google\\.internal|fd00:ec2::254"))
